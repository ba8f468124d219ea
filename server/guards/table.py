"""All guards, in the order in which they run. A new guard is one new file and one new row."""

from server.domain.registry import Registry

GUARDS = Registry("guard", {"injection": "server.guards.commands:InjectionGuard"})
