output "task_definition_arn" {
  description = "The task definition with its revision."
  value       = aws_ecs_task_definition.this.arn
}

output "log_group_name" {
  description = "Where the program's lines go."
  value       = aws_cloudwatch_log_group.this.name
}
