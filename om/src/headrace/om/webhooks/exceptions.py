"""The webhooks' own errors, each with one of the shapes."""

from typing import ClassVar

from headrace.om.exceptions import Conflict, NotFound, PlatformException, PreconditionFailed


class WebhooksException(PlatformException):
    """The base of the webhooks' errors."""


class WebhookEndpointNotFound(WebhooksException, NotFound):
    """No such endpoint in this tenant."""

    code: ClassVar[str] = "webhook_endpoint_not_found"


class WebhookMessageNotFound(WebhooksException, NotFound):
    """No such message in this tenant."""

    code: ClassVar[str] = "webhook_message_not_found"


class WebhookEndpointChanged(WebhooksException, Conflict):
    """Others changed the endpoint at every try; nothing was written."""

    code: ClassVar[str] = "webhook_endpoint_changed"


class WebhookMessageDiffers(WebhooksException, Conflict):
    """The id belongs to a message with another event type or body; nothing was written."""

    code: ClassVar[str] = "webhook_message_differs"


class TooManyWebhookEndpoints(WebhooksException, PreconditionFailed):
    """The tenant has as many endpoints as it may have; nothing was written."""

    code: ClassVar[str] = "too_many_webhook_endpoints"
