# Three images from one file:
#
#   docker build --target operator -t modelexport-operator .
#   docker build --target exporter -t modelexport-exporter .
#   docker build --target exporter-cpu -t modelexport-exporter-cpu .
#
# BASE is any image with Python >= 3.11 (its venv module included) and CA certificates. A CUDA base
# image is not needed: torch and onnxruntime find CUDA's libraries in Python packages, and the GPU
# node's container runtime brings the driver.
#
# `make release PARTS=images` builds them with the same digests for the same commit and BASE. So what
# is installed has a hash, and bytecode does not depend on times (requirements/bytecode.py).

ARG BASE=docker.io/library/python:3.13-slim-bookworm

FROM ${BASE} AS package
COPY requirements/build.txt requirements/bytecode.py /opt/requirements/
RUN python3 -m venv /opt/build \
    && /opt/build/bin/python -m pip install --quiet --no-cache-dir --require-hashes \
        -r /opt/requirements/build.txt
WORKDIR /src
COPY pyproject.toml README.md LICENSE ./
COPY api api
COPY operator operator
COPY exporter exporter
COPY cli cli
COPY docs/reasons.md docs/reasons.md
# The operator's image has no code of the exporter and the command line.
RUN /opt/build/bin/python -m pip install --quiet --no-cache-dir --no-deps --no-build-isolation \
        --target /opt/package . \
    && /opt/build/bin/python /opt/requirements/bytecode.py /opt/package \
    && mkdir /opt/operator \
    && cp -r /opt/package/modelexport_api /opt/package/modelexport_operator \
        /opt/package/modelexport-*.dist-info /opt/operator

FROM ${BASE} AS operator
COPY requirements/install.sh requirements/bytecode.py requirements/build.txt \
    requirements/operator.txt /opt/requirements/
RUN sh /opt/requirements/install.sh /opt/requirements/operator.txt
COPY --from=package /opt/operator /opt/package
ENV PATH=/opt/modelexport/bin:$PATH PYTHONUNBUFFERED=1
# The root file system is read-only in the cluster, so bytecode is written here: by starting the
# operator once, since compiling all of the kubernetes package would double the image.
RUN python -m modelexport_operator --help > /dev/null \
    && python -B /opt/requirements/bytecode.py /opt/modelexport
ENV PYTHONDONTWRITEBYTECODE=1
USER 65532:65532
ENTRYPOINT ["python", "-m", "modelexport_operator"]

FROM ${BASE} AS exporter
COPY requirements/install.sh requirements/bytecode.py requirements/build.txt \
    requirements/exporter.txt /opt/requirements/
RUN sh /opt/requirements/install.sh /opt/requirements/exporter.txt --compile-bytecode \
    && /opt/modelexport/bin/python -B -W ignore /opt/requirements/bytecode.py /opt/modelexport
COPY --from=package /opt/package /opt/package
ENV PATH=/opt/modelexport/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 \
    NVIDIA_DRIVER_CAPABILITIES=compute,utility \
    HF_HUB_OFFLINE=1 \
    ORT_DISABLE_TELEMETRY=1
USER 65532:65532
ENTRYPOINT ["python", "-m", "modelexport_exporter"]

# The registry has torch with CUDA only, so CUDA is taken out of it, and the result imported.
FROM ${BASE} AS without-cuda
COPY requirements/install.sh requirements/bytecode.py requirements/build.txt \
    requirements/exporter-cpu.txt /opt/requirements/
# --no-deps: the file has all dependencies but those on CUDA.
RUN sh /opt/requirements/install.sh /opt/requirements/exporter-cpu.txt --compile-bytecode --no-deps
COPY requirements/without-cuda.txt /opt/requirements/
RUN python3 -m venv /opt/tools \
    && /opt/tools/bin/python -m pip install --quiet --no-cache-dir --require-hashes \
        -r /opt/requirements/without-cuda.txt
COPY requirements/without_cuda.py /opt/requirements/
RUN cd /opt/requirements \
    && /opt/tools/bin/python without_cuda.py /opt/modelexport/lib/python3*/site-packages
# 0.2 GB that no export reads: tests, a downloader, bytecode of what few models import, and AWS's
# services other than S3 and those that give credentials.
RUN cd /opt/modelexport/lib/python3*/site-packages \
    && find . -depth -type d -name tests -exec rm -r {} + \
    && rm -r onnx/backend/test torch/bin/protoc* hf_xet hf_xet-* \
    && find botocore/data -mindepth 1 -maxdepth 1 -type d \
        ! -name s3 ! -name sts ! -name sso ! -name sso-oidc ! -name signin -exec rm -r {} + \
    && find transformers/models torch/_inductor torch/testing pygments setuptools networkx -name '*.pyc' -delete \
    && /opt/modelexport/bin/python -B -W ignore /opt/requirements/bytecode.py /opt/modelexport \
    && /opt/modelexport/bin/python -B -c 'import torch, torchvision, onnxruntime, transformers'

FROM ${BASE} AS exporter-cpu
COPY --from=without-cuda /opt/modelexport /opt/modelexport
COPY --from=package /opt/package /opt/package
ENV PATH=/opt/modelexport/bin:$PATH PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 \
    HF_HUB_OFFLINE=1 \
    ORT_DISABLE_TELEMETRY=1
USER 65532:65532
ENTRYPOINT ["python", "-m", "modelexport_exporter"]
