"""ModelExportTrigger: creates a ModelExport for each training that completes; one policy per file.

Pure: `jsonpath`, `expressions`, `template`, `child` (the ModelExport), `completion` (success of an
object), `ledger` (exactly once), `history`, `selection`, `kinds`, `ready`. Around them: `stream`
(list and watch), `follower` (one trigger), `history_pruner` (history limits), `controller` (all
triggers).
"""
