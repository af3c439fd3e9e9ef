output "vpc_id" {
  description = "The network."
  value       = aws_vpc.this.id
}

output "private_subnet_ids" {
  description = "The private subnets, one a zone, in the order of the zones."
  value       = [for zone in var.availability_zones : aws_subnet.private[zone].id]
}
