output "topic_arn" {
  description = "The topic that every alarm of the environment speaks on."
  value       = aws_sns_topic.this.arn
}
