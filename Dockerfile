# Two images from one file:
#
#   docker build --target operator -t modelexport-operator .
#   docker build --target exporter -t modelexport-exporter .
#
# BASE is any image with Python >= 3.11 (its venv module included) and CA certificates. A CUDA base
# image is not needed: torch and onnxruntime find CUDA's libraries in Python packages, and the GPU
# node's container runtime brings the driver.

ARG BASE=docker.io/library/python:3.13-slim-bookworm

FROM ${BASE} AS build
ARG UV_VERSION=0.13.8
ENV UV_LINK_MODE=copy UV_NO_PROGRESS=1 UV_PYTHON_DOWNLOADS=never
RUN python3 -m venv /opt/uv \
 && /opt/uv/bin/python -m pip install --quiet --no-cache-dir "uv==${UV_VERSION}" \
 && python3 -m venv --without-pip /opt/modelexport
WORKDIR /src

# Dependencies first: a change of code reuses their layer.
FROM build AS operator-build
COPY requirements/operator.txt requirements/operator.txt
RUN /opt/uv/bin/uv pip install --no-cache --python /opt/modelexport/bin/python --require-hashes \
      -r requirements/operator.txt
COPY pyproject.toml README.md LICENSE ./
COPY api api
COPY operator operator
COPY exporter exporter
COPY cli cli
# The root file system is read-only in the cluster, so bytecode is written here: by starting the
# operator once, since compiling all of the kubernetes package would double the image.
RUN /opt/uv/bin/uv pip install --no-cache --python /opt/modelexport/bin/python --no-deps . \
 && /opt/modelexport/bin/python -m modelexport_operator --help > /dev/null

FROM build AS exporter-dependencies
COPY requirements/exporter.txt requirements/exporter.txt
RUN /opt/uv/bin/uv pip install --no-cache --compile-bytecode \
      --python /opt/modelexport/bin/python --require-hashes -r requirements/exporter.txt

FROM build AS exporter-package
COPY pyproject.toml README.md LICENSE ./
COPY api api
COPY operator operator
COPY exporter exporter
COPY cli cli
RUN /opt/uv/bin/uv pip install --no-cache --compile-bytecode \
      --python /opt/modelexport/bin/python --no-deps --target /opt/package .

FROM ${BASE} AS operator
COPY --from=operator-build /opt/modelexport /opt/modelexport
ENV PATH=/opt/modelexport/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
USER 65532:65532
ENTRYPOINT ["python", "-m", "modelexport_operator"]

FROM ${BASE} AS exporter
# Two layers: the 6 GB of dependencies stay in a node's cache when only our code changed.
COPY --from=exporter-dependencies /opt/modelexport /opt/modelexport
COPY --from=exporter-package /opt/package /opt/package
ENV PATH=/opt/modelexport/bin:/opt/package/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 \
    PYTHONPATH=/opt/package \
    NVIDIA_DRIVER_CAPABILITIES=compute,utility \
    HF_HUB_OFFLINE=1
USER 65532:65532
ENTRYPOINT ["python", "-m", "modelexport_exporter"]
