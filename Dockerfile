# Two images from one file:
#
#   docker build --target operator -t modelexport-operator .
#   docker build --target exporter -t modelexport-exporter .
#
# BASE is any image with Python >= 3.11 (its venv module included) and CA certificates. A CUDA base
# image is not needed: torch and onnxruntime find CUDA's libraries in Python packages, and the GPU
# node's container runtime brings the driver.

ARG BASE=docker.io/library/python:3.13-slim-bookworm

# The installer, mounted where it is needed: nothing of it stays in an image, and the exporter's
# 6 GB of dependencies are written once, not copied from stage to stage.
FROM ${BASE} AS uv
ARG UV_VERSION=0.13.8
RUN python3 -m venv /opt/uv \
 && /opt/uv/bin/python -m pip install --quiet --no-cache-dir "uv==${UV_VERSION}"

FROM uv AS package
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY api api
COPY operator operator
COPY exporter exporter
COPY cli cli
RUN /opt/uv/bin/uv build --quiet --no-cache --wheel --out-dir /wheel

FROM ${BASE} AS operator
ENV PATH=/opt/modelexport/bin:$PATH PYTHONUNBUFFERED=1
COPY requirements/operator.txt /opt/requirements.txt
RUN --mount=type=bind,from=uv,source=/opt/uv,target=/opt/uv \
    python3 -m venv --without-pip /opt/modelexport \
 && /opt/uv/bin/uv pip install --quiet --no-cache --python /opt/modelexport/bin/python \
      --require-hashes -r /opt/requirements.txt
# The root file system is read-only in the cluster, so bytecode is written here: by starting the
# operator once, since compiling all of the kubernetes package would double the image.
RUN --mount=type=bind,from=uv,source=/opt/uv,target=/opt/uv \
    --mount=type=bind,from=package,source=/wheel,target=/wheel \
    /opt/uv/bin/uv pip install --quiet --no-cache --python /opt/modelexport/bin/python \
      --no-deps /wheel/*.whl \
 && python -m modelexport_operator --help > /dev/null
ENV PYTHONDONTWRITEBYTECODE=1
USER 65532:65532
ENTRYPOINT ["python", "-m", "modelexport_operator"]

FROM ${BASE} AS exporter
ENV PATH=/opt/modelexport/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 \
    NVIDIA_DRIVER_CAPABILITIES=compute,utility \
    HF_HUB_OFFLINE=1
COPY requirements/exporter.txt /opt/requirements.txt
RUN --mount=type=bind,from=uv,source=/opt/uv,target=/opt/uv \
    python3 -m venv --without-pip /opt/modelexport \
 && /opt/uv/bin/uv pip install --quiet --no-cache --compile-bytecode \
      --python /opt/modelexport/bin/python --require-hashes -r /opt/requirements.txt
# Our own code is a layer of its own: the dependencies stay in a node's cache when it changes.
RUN --mount=type=bind,from=uv,source=/opt/uv,target=/opt/uv \
    --mount=type=bind,from=package,source=/wheel,target=/wheel \
    /opt/uv/bin/uv pip install --quiet --no-cache --compile-bytecode \
      --python /opt/modelexport/bin/python --no-deps /wheel/*.whl
USER 65532:65532
ENTRYPOINT ["python", "-m", "modelexport_exporter"]
