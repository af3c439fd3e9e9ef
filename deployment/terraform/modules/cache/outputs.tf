output "address" {
  description = "Host and port of the node that is written to; the URL is rediss://:TOKEN@ADDRESS/0."
  value       = "${aws_elasticache_replication_group.this.primary_endpoint_address}:6379"
}

output "identifier" {
  description = "The server's name, as the AWS command line takes it to set the token."
  value       = aws_elasticache_replication_group.this.id
}
