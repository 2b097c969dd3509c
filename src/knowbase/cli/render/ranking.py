"""What a person reads of profiles, and of why a document is missing."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from knowbase.cli.render.search import constant
from knowbase.cli.terminal import Painter, safe

if TYPE_CHECKING:
    from knowbase.operations.ranking import Profiles
    from knowbase.search.calibrate import Calibrated
    from knowbase.search.whynot import WhyNot


def render_profiles(paint: Painter, profiles: "Profiles") -> Iterable[str]:
    for line in profiles.profiles:
        mark = " (default)" if line.default else ""
        yield f"{paint('cyan', safe(line.name))}{mark}: {safe(line.about)}"
        for field in line.fields:
            yield (
                f"  {field.field:<18} {safe(constant(field.value)):<24} {field.origin:<8}"
                f" {paint('dim', field.about)}"
            )


def render_why_not(paint: Painter, why: "WhyNot") -> Iterable[str]:
    yield f"{paint('cyan', safe(why.code))}: {paint('bold', safe(why.title))}"
    yield f"  {paint('bold', why.stage)}: {safe(why.reason)}"
    for leg in why.legs:
        place = f"rank {leg.rank}, raw {leg.raw:.4f}" if leg.rank else "does not find it"
        yield f"  {leg.leg:<9} {place} (the first {leg.depth} are candidates)"
    if why.score is not None:
        needed = f", needed {why.needed:.6f}" if why.needed is not None else ""
        margin = f", short by {why.margin:.6f}" if why.margin is not None else ""
        yield f"  score {why.score:.6f}{needed}{margin}"


def render_calibrated(paint: Painter, learnt: "Calibrated") -> Iterable[str]:
    if learnt.made_at is None:
        yield "nothing learnt from this base: verdicts are those of any base"
        return
    yield (
        f"learnt {paint('dim', learnt.made_at)} from {learnt.questions} questions of the base,"
        f" with and without their document, and {learnt.strangers} from elsewhere"
    )
    yield paint("dim", f"  {'':<12}{'elsewhere':>10}{'base':>10}{'spread':>10}")
    for one in learnt.signals:
        yield f"  {one.signal:<12}{one.strange:10.3f}{one.own:10.3f}{one.spread:10.3f}"
    for legs, share in learnt.separation.items():
        yield f"told apart by {legs}: {share:.3f}"
    if learnt.changed:
        yield f"of the base, {learnt.changed:.0%} changed since"
