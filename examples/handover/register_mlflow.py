"""Register an export in MLflow: register_mlflow.py DIRECTORY NAME, with MLFLOW_TRACKING_URI set.

DIRECTORY is a published destination. Its files are compared with provenance.json first, so that
what is registered is what was verified. Needs mlflow or mlflow-skinny.
"""

import hashlib
import json
import sys
from pathlib import Path

from mlflow import MlflowClient
from mlflow.exceptions import MlflowException


def main(directory: Path, name: str) -> None:
    statement = json.loads((directory / "provenance.json").read_text())
    for subject in statement["subject"]:
        file = directory / subject["name"]
        if hashlib.sha256(file.read_bytes()).hexdigest() != subject["digest"]["sha256"]:
            sys.exit(f"{file} is not what provenance.json says: fetch the artifact again")
    client = MlflowClient()
    run = client.create_run(experiment_id="0", run_name=f"modelexport {name}")
    client.log_artifacts(run.info.run_id, str(directory), "onnx")
    client.set_terminated(run.info.run_id)
    try:
        client.create_registered_model(name)
    except MlflowException as error:
        if error.error_code != "RESOURCE_ALREADY_EXISTS":
            raise
    digest = hashlib.sha256((directory / "provenance.json").read_bytes()).hexdigest()
    version = client.create_model_version(
        name,
        source=f"{run.info.artifact_uri}/onnx",
        run_id=run.info.run_id,
        tags={"modelexport.provenance.sha256": digest},
    )
    print(f"{name} {version.version}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
