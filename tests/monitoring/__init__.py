"""What the chart ships for Prometheus and Grafana, read by tests."""
