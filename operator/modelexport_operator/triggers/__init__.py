"""ModelExportTrigger: trainings that complete become ModelExports, one policy a file.

Pure: `jsonpath`, `expressions`, `template`, `child` (what is created), `completion` (what counts),
`ledger` (exactly once), `history`, `selection`, `kinds`, `ready`. Around them: `stream` (list and
watch), `follower` (one trigger), `keeper` (history limits), `controller` (all triggers).
"""
