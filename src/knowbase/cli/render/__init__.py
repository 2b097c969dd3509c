"""What a person reads, chosen by what a result is: one function for each type of result."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from knowbase.cli.terminal import Painter

    Renderer = Callable[[Painter, Any], Iterable[str]]

RENDERERS = {
    "knowbase.base.doctor.Diagnosis": "health.render_diagnosis",
    "knowbase.base.originals.Original": "reading.render_original",
    "knowbase.operations.opening.Opened": "opening.render_opened",
    "knowbase.base.status.Status": "finding.render_status",
    "knowbase.operations.daemon.Waiting": "health.render_waiting",
    "knowbase.evaluate.evaluation.Evaluation": "scores.render_evaluation",
    "knowbase.exchange.exporting.Export": "exchange.render_export",
    "knowbase.exchange.imported.Imported": "exchange.render_imported",
    "knowbase.graph.Answers": "graph.render_rows",
    "knowbase.graph.Rebuilt": "graph.render_rebuilt",
    "knowbase.graph.clusters.Ranking": "graph.render_ranking",
    "knowbase.graph.export.Exported": "graph.render_export",
    "knowbase.graph.neighbourhood.Neighbourhood": "graph.render_neighbourhood",
    "knowbase.graph.related.RelatedAnswer": "graph.render_related",
    "knowbase.graph.walks.DocumentLinks": "graph.render_links",
    "knowbase.graph.walks.Path": "graph.render_path",
    "knowbase.http.token_commands.NewToken": "serving.render_token",
    "knowbase.http.token_commands.TokenList": "serving.render_tokens",
    "knowbase.http.server.Serving": "serving.render_serving",
    "knowbase.ingest.embedding.Embedding": "models.render_embedding",
    "knowbase.ingest.ignoring.Ignored": "filling.render_ignored",
    "knowbase.ingest.removal.Removal": "filling.render_removal",
    "knowbase.ingest.report.Report": "filling.render_report",
    "knowbase.mcp.agents.AgentList": "agents.render_agents",
    "knowbase.mcp.install.Installed": "agents.render_installed",
    "knowbase.memory.brief.Brief": "memory.render_brief",
    "knowbase.memory.bulk.WrittenNotes": "filling.render_notes",
    "knowbase.memory.history.Difference": "history.render_difference",
    "knowbase.memory.history.DocumentHistory": "history.render_history",
    "knowbase.memory.history.Log": "history.render_log",
    "knowbase.memory.history.Pruned": "history.render_pruned",
    "knowbase.memory.undoing.Erased": "history.render_erased",
    "knowbase.memory.undoing.Runs": "history.render_runs",
    "knowbase.memory.undoing.Undone": "history.render_undone",
    "knowbase.memory.inbox.Inbox": "judging.render_inbox",
    "knowbase.memory.judging.Judged": "judging.render_judged",
    "knowbase.memory.lifecycle.Changed": "memory.render_changed",
    "knowbase.memory.notes.Tagged": "memory.render_tagged",
    "knowbase.memory.lifecycle.Superseded": "memory.render_superseded",
    "knowbase.memory.sessions.DocumentContext": "memory.render_context",
    "knowbase.memory.sessions.SessionList": "memory.render_sessions",
    "knowbase.memory.sessions.SessionView": "memory.render_session_view",
    "knowbase.memory.sessions.Timeline": "memory.render_timeline",
    "knowbase.memory.use.Feedback": "memory.render_feedback",
    "knowbase.move.Moved": "move.render_moved",
    "knowbase.operations.filling.Made": "filling.render_made",
    "knowbase.operations.filling.SchemaSql": "filling.render_sql",
    "knowbase.operations.settings.Config": "finding.render_config",
    "knowbase.base.tasks.TaskLine": "health.render_task",
    "knowbase.base.tasks.TaskList": "health.render_tasks",
    "knowbase.base.settings_file.SettingChange": "finding.render_setting",
    "knowbase.operations.finding.Tags": "finding.render_tags",
    "knowbase.operations.models.ModelList": "models.render_models",
    "knowbase.operations.ranking.Profiles": "ranking.render_profiles",
    "knowbase.rendering.Rendered": "reading.render_rendered",
    "knowbase.search.calibrate.Calibrated": "ranking.render_calibrated",
    "knowbase.search.saved.DeletedSearch": "saved.render_deleted",
    "knowbase.search.answer.Answer": "search.render_answer",
    "knowbase.search.log.Searches": "health.render_searches",
    "knowbase.search.plan.QueryPlan": "search.render_plan",
    "knowbase.search.saved.Saved": "saved.render_saved",
    "knowbase.search.saved.SavedList": "saved.render_list",
    "knowbase.search.synonyms.ImportedSynonyms": "synonyms.render_imported",
    "knowbase.search.synonyms.RemovedSynonyms": "synonyms.render_removed",
    "knowbase.search.synonyms.SynonymList": "synonyms.render_list",
    "knowbase.search.synonyms.Synonyms": "synonyms.render_synonyms",
    "knowbase.search.whynot.WhyNot": "ranking.render_why_not",
    "knowbase.text.sections.Content": "finding.render_content",
    "knowbase.upkeep.backup.Backup": "upkeep.render_backup",
    "knowbase.upkeep.check.Checked": "upkeep.render_checked",
    "knowbase.upkeep.compact.Compacted": "upkeep.render_compacted",
    "knowbase.upkeep.repair.Repaired": "upkeep.render_repaired",
    "knowbase.upkeep.restore.Restored": "upkeep.render_restored",
    "knowbase.values.communities.Communities": "graph.render_communities",
    "knowbase.values.documents.Document": "filling.render_note",
    "knowbase.values.folders.Folder": "finding.render_folder",
    "knowbase.values.documents.Listing": "finding.render_listing",
    "knowbase.values.notes.Remembered": "memory.render_remembered",
    "knowbase.values.sessions.Session": "memory.render_session",
}
"""Types by name, and where their functions are: neither is loaded before it is needed."""


def render(paint: "Painter", result: Any) -> str:
    """The text of a result."""
    return "\n".join(renderer_of(type(result))(paint, result))


def renderer_of(kind: type) -> "Renderer":
    """The function that renders results of a type, or of what it is a kind of."""
    names = (f"{one.__module__}.{one.__qualname__}" for one in kind.__mro__)
    module, _, function = next(RENDERERS[one] for one in names if one in RENDERERS).partition(".")
    renderer: Renderer = getattr(import_module(f"{__name__}.{module}"), function)
    return renderer
