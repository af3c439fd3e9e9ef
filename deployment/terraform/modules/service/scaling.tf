# The number of tasks has one owner, whether it scales or not: Application Auto Scaling. Terraform says between which bounds;
# the same number twice where nothing scales. So the switch changes bounds and replaces no service.

locals {
  tasks = var.autoscaling_enabled ? { min = var.scaling.min_tasks, max = var.scaling.max_tasks } : { min = var.desired_count, max = var.desired_count }
}

resource "aws_appautoscaling_target" "this" {
  service_namespace  = "ecs"
  scalable_dimension = "ecs:service:DesiredCount"
  resource_id        = "service/${var.cluster_name}/${aws_ecs_service.this.name}"
  min_capacity       = local.tasks.min
  max_capacity       = local.tasks.max
}

# Bounds alone move nothing: without a policy nobody looks at them, and with one nobody does while no task runs that could be
# measured. A scheduled action brings the count between its own.
# Source: Application Auto Scaling User Guide, "How scheduled scaling works".
resource "aws_appautoscaling_scheduled_action" "bounds" {
  name               = "${local.full_name}-bounds"
  service_namespace  = aws_appautoscaling_target.this.service_namespace
  scalable_dimension = aws_appautoscaling_target.this.scalable_dimension
  resource_id        = aws_appautoscaling_target.this.resource_id
  schedule           = "rate(1 minute)"

  scalable_target_action {
    min_capacity = local.tasks.min
    max_capacity = local.tasks.max
  }
}

resource "aws_appautoscaling_policy" "cpu" {
  count = var.autoscaling_enabled ? 1 : 0

  name               = "${local.full_name}-cpu"
  policy_type        = "TargetTrackingScaling"
  service_namespace  = aws_appautoscaling_target.this.service_namespace
  scalable_dimension = aws_appautoscaling_target.this.scalable_dimension
  resource_id        = aws_appautoscaling_target.this.resource_id

  target_tracking_scaling_policy_configuration {
    target_value       = var.scaling.target_cpu_percent
    scale_out_cooldown = 60
    scale_in_cooldown  = 300

    predefined_metric_specification {
      predefined_metric_type = "ECSServiceAverageCPUUtilization"
    }
  }
}
