"""Everything that is made of the settings, in one place."""

from server.services.container import Services

__all__ = ["Services"]
