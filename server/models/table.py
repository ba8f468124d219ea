"""Model providers by name, imported on first use."""

from server.domain.registry import Registry

CHAT_MODELS = Registry("chat model provider", {"openai": "server.models.openai:OpenAIChat"})

EMBEDDERS = Registry(
    "embedding model provider",
    {
        "embedded": "server.models.embedded:EmbeddedEmbedder",
        "folder": "server.models.onnx_folder:FolderEmbedder",
        "openai": "server.models.openai:OpenAIEmbedder",
    },
)

RELEVANCE_MODELS = Registry("relevance model provider", {"http": "server.models.rerank:HttpRelevance"})
