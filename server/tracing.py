"""OpenTelemetry traces of requests, stages of the pipeline, calls of models and jobs.

Nothing of OpenTelemetry is imported before `start_tracing`. Until then each function here ends at one check.
Spans carry names, ids and numbers, and never what a visitor wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from typing import Any, TypeVar

from server.logs import request_id
from server.version import version

T = TypeVar("T")

TRACEPARENT = "traceparent"
_OFF: AbstractContextManager[None] = nullcontext()
_tracer: Any = None


def start_tracing(endpoint: str) -> Callable[[], object]:
    """Send the spans of this process to the collector; return what sends the last ones. Call it after
    forking. The SDK reads its other variables, such as OTEL_SERVICE_NAME, from the environment."""
    global _tracer
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import OTELResourceDetector, Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    named = Resource({"service.name": "docent", "service.version": version()})
    provider = TracerProvider(resource=named.merge(OTELResourceDetector().detect()))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(f"{endpoint}/v1/traces")))
    _tracer = provider.get_tracer("docent", version())
    return provider.shutdown


def span(name: str, **attributes: str) -> AbstractContextManager[None]:
    """A span of what is done inside, which must not yield."""
    return _OFF if _tracer is None else _span(name, "", attributes)


def continued(name: str, traceparent: str, **attributes: str) -> AbstractContextManager[None]:
    """A span that continues the trace of another process."""
    return _OFF if _tracer is None else _span(name, traceparent, attributes)


@contextmanager
def _span(name: str, traceparent: str, attributes: Mapping[str, str]) -> Iterator[None]:
    with _tracer.start_as_current_span(name, _remote(traceparent), attributes=_noted(attributes)):
        yield


def each(name: str, start: Callable[[], Generator[T]], **attributes: str) -> Generator[T]:
    """The items of `start()`, with a span from the first to the last one."""
    return start() if _tracer is None else _each(name, start, attributes)


def _each(name: str, start: Callable[[], Generator[T]], attributes: Mapping[str, str]) -> Generator[T]:
    from opentelemetry.trace import StatusCode, use_span

    made = _tracer.start_span(name, attributes=_noted(attributes))
    try:
        with closing(start()) as items:
            while True:
                # Current only while an item is made: the caller's own spans are not part of this one.
                with use_span(made, record_exception=False, set_status_on_exception=False):
                    try:
                        item = next(items)
                    except StopIteration:
                        return
                yield item
    except Exception as error:
        made.set_status(StatusCode.ERROR, type(error).__name__)
        raise
    finally:
        made.end()


def begin_request(name: str, traceparent: str, **attributes: str) -> Callable[[int], None] | None:
    """Begin the span of a request in this thread; return what ends it with the status. None while off."""
    if _tracer is None:
        return None
    from opentelemetry.context import Context, attach
    from opentelemetry.trace import SpanKind, StatusCode, set_span_in_context

    parent = _remote(traceparent) or Context()
    made = _tracer.start_span(name, parent, SpanKind.SERVER, _noted(attributes))
    attach(set_span_in_context(made, parent))  # until the next request of this thread

    def end(status: int) -> None:
        made.set_attribute("http.response.status_code", status)
        if status >= 500:
            made.set_status(StatusCode.ERROR)
        made.end()

    return end


def carried() -> dict[str, str]:
    """Headers for what this process asks of another one: the ids of the request and of the current span."""
    headers = {"X-Request-ID": known} if (known := request_id.get()) else {}
    if _tracer is not None:
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        TraceContextTextMapPropagator().inject(headers)
    return headers


def _remote(traceparent: str) -> Any:
    """The context of a traceparent header; None without a valid one."""
    if not traceparent:
        return None
    from opentelemetry.context import Context
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    return TraceContextTextMapPropagator().extract({TRACEPARENT: traceparent}, Context()) or None


def _noted(attributes: Mapping[str, str]) -> dict[str, str]:
    known = request_id.get()
    return {
        **{f"docent.{name}": value for name, value in attributes.items()},
        **({"docent.request_id": known} if known else {}),
    }
