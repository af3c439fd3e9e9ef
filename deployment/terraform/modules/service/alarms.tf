# Fewer tasks than wanted, for longer than a rollout takes.
resource "aws_cloudwatch_metric_alarm" "running_below_desired" {
  alarm_name          = "${local.full_name}-running-below-desired"
  alarm_description   = "The worker ${var.name} of ${var.environment_name} runs fewer tasks than it should: see the service's events and the stopped tasks' reasons."
  comparison_operator = "GreaterThanThreshold"
  threshold           = 0
  evaluation_periods  = 5
  treat_missing_data  = "breaching"
  alarm_actions       = [var.alarm_topic_arn]
  ok_actions          = [var.alarm_topic_arn]

  metric_query {
    id          = "missing"
    label       = "missing tasks"
    expression  = "desired - running"
    return_data = true
  }

  dynamic "metric_query" {
    for_each = tomap({ desired = "DesiredTaskCount", running = "RunningTaskCount" })

    content {
      id = metric_query.key

      metric {
        namespace   = "ECS/ContainerInsights"
        metric_name = metric_query.value
        stat        = "Average"
        period      = 60
        dimensions  = { ClusterName = var.cluster_name, ServiceName = aws_ecs_service.this.name }
      }
    }
  }
}
