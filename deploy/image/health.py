"""The health check of the image: the web server of this container answers. The image has no curl."""

import os
import urllib.request

urllib.request.urlopen(f"http://127.0.0.1:{os.environ.get('PORT') or 8000}/healthz", timeout=4)
