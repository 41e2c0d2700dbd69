"""Many checkpoints in one ModelExport.

    listing -> destinations -> shares = plan.json, written once
    then per pod: loop over its share -> shares/<k>.json -> results.json, results.csv, index.html

Guarantees that every checkpoint gets a result of its own, that a bad one never affects the others,
and that a restarted pod continues where it stopped.
"""
