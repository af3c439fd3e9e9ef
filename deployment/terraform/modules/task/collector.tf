# The sidecar that reads the program's metrics port and writes what alarms need to CloudWatch.

locals {
  namespace = "Headrace/${var.environment_name}"
  collector = var.metrics_port == null ? [] : [{
    name                   = "metrics"
    image                  = var.collector_image
    essential              = false
    readonlyRootFilesystem = true
    privileged             = false
    environment            = [{ name = "AOT_CONFIG_CONTENT", value = yamlencode(local.collector_configuration) }]
    linuxParameters        = { initProcessEnabled = true, capabilities = { drop = ["ALL"] } }
    logConfiguration       = local.logs["metrics"]
  }]
  collector_configuration = {
    receivers = {
      prometheus = {
        config = {
          scrape_configs = [{
            job_name        = var.name
            scrape_interval = "30s"
            static_configs = [{
              targets = ["127.0.0.1:${coalesce(var.metrics_port, 0)}"]
              labels  = { environment = var.environment_name, worker = var.name }
            }]
          }]
        }
      }
    }
    exporters = {
      awsemf = {
        namespace               = local.namespace
        region                  = var.region
        log_group_name          = aws_cloudwatch_log_group.this.name
        log_stream_name         = "metrics"
        dimension_rollup_option = "NoDimensionRollup"
        metric_declarations = [
          {
            # The whole queue's and every worker's: alarms look at the environment, whichever worker says it.
            dimensions            = [["environment"]]
            metric_name_selectors = ["^headrace_queue_oldest_waiting_seconds", "^headrace_outbox_lag_seconds", "^headrace_dead_letters_total"]
          },
          {
            dimensions            = [["environment", "worker"]]
            metric_name_selectors = ["^headrace_claims_total", "^headrace_lease_losses_total", "^headrace_loop_errors_total"]
          },
        ]
      }
    }
    service = { pipelines = { metrics = { receivers = ["prometheus"], exporters = ["awsemf"] } } }
  }
}
