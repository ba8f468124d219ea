"""Which models the settings name. Vendor modules are imported only when they are needed."""

from __future__ import annotations

from server.data_folder import DataFolder
from server.domain.protocols import Cache, ChatModel, Embedder
from server.settings import Settings
