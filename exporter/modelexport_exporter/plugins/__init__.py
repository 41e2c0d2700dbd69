"""Plugins: what a user adds to the export, as code in the manifest.

A plugin is a module named in `export.plugins`. Importing it may register operators and symbolic
functions the way users of torch do; names that torch.onnx knows (`custom_translation_table`,
`custom_opsets`, `decompositions`, `onnx_functions`, `configure_session`) are picked up from it.
Export and verification both import it, so that both see the same model.
"""
