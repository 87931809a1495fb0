# The image of pawl serve, built from a clone: docker build -t pawl .
# A release copies its own binaries instead: deploy/Dockerfile.
FROM golang:1.26-alpine AS build
WORKDIR /src
COPY . .
RUN mkdir -p /image/usr/bin /image/etc/ssl/certs /image/data /image/agents /image/tmp
RUN cp /etc/ssl/certs/ca-certificates.crt /image/etc/ssl/certs/
RUN CGO_ENABLED=0 go build -trimpath -tags=clouds -ldflags="-s -w" -o /image/usr/bin/pawl ./cmd/pawl
RUN chown -R 65532:65532 /image/data /image/agents /image/tmp

FROM scratch
COPY --from=build /image/ /
ENV PATH=/usr/bin HOME=/data XDG_STATE_HOME=/data
USER 65532:65532
WORKDIR /agents
VOLUME /data
EXPOSE 8080
ENTRYPOINT ["/usr/bin/pawl"]
CMD ["serve", "--addr", "0.0.0.0:8080", "--host", "localhost", "/agents"]
