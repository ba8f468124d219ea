import os

# Builds of onnxruntime send data about its use to their maker, unless this is set before it is imported.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
