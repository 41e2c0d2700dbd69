"""The mutation suite of the verdict: right artifacts, damaged as exporters damage them.

30 models (`subjects`) are exported by the product, damaged by operators that imitate bugs of real
exporters (`mutations`), judged by whether the damage shows at all (`truth`), and put before the
product's verification and its peers' (`judges`, `peers`). `study` does it for a model, `page`
writes docs/mutants.md.
"""
