"""Many checkpoints in one ModelExport: the shell around what exports one.

    listing -> destinations -> shares = plan.json, taken once
    then per pod: loop over its share -> shares/<k>.json -> results.json, results.csv, index.html

Guarantees that every checkpoint gets an answer of its own, that a bad one never spoils the others,
and that a pod which is started again goes on where it was.
"""
