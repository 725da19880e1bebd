import type { IngestRecords, Text } from '../../../model/ingest-records.ts'

/** What a record takes beside its content and its pairs; a guess on the safe side. */
const record_bytes = 1024

/** About how much memory the records of a request hold until they are durable. */
export function bytesOf(records: IngestRecords): number {
  let bytes = 0
  for (const { input, output, attributes, metadata } of records.observations) {
    bytes += record_bytes + input.length + output.length + lengthOf(attributes) + lengthOf(metadata)
  }
  for (const { input, output, metadata } of records.traces) {
    bytes += record_bytes + input.length + output.length + lengthOf(metadata)
  }
  for (const event of records.events) {
    bytes += record_bytes + event.body.length + lengthOf(event.attributes)
  }
  for (const { attributes } of records.links) bytes += record_bytes + lengthOf(attributes)
  for (const { metadata } of records.correlations) bytes += record_bytes + lengthOf(metadata)
  return bytes
}

function lengthOf(texts: readonly Text[]): number {
  let length = 0
  for (let index = 0; index < texts.length; index++) length += texts[index]?.length ?? 0
  return length
}
