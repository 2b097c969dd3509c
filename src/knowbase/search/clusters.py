"""S3-13: the query `communities` is answered with the communities of what passes its filters."""

from typing import TYPE_CHECKING, NamedTuple

from knowbase.query.conditions import both
from knowbase.search.services import Services
from knowbase.search.understand import Inquiry

if TYPE_CHECKING:
    from knowbase.values.communities import Communities


class Clusters(NamedTuple):
    """What belongs together, or why that is not known."""

    communities: "Communities | None" = None
    notices: tuple[str, ...] = ()


def clusters(inquiry: Inquiry, services: Services) -> Clusters:
    """The communities that are asked for. Documents with the word are hits, as ever."""
    if services.communities is None:
        return Clusters()
    from knowbase.errors import ToolMissing

    among = both(inquiry.visible, inquiry.filter, inquiry.query.filter)
    try:
        return Clusters(services.communities(among))
    except ToolMissing as error:
        return Clusters(notices=(f"no communities: {error.message} ({error.hint})",))
