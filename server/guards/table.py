"""Every guard: a new one is one new file and one new row. They run in this order."""

from server.domain.registry import Registry

GUARDS = Registry("guard", {"injection": "server.guards.commands:InjectionGuard"})
