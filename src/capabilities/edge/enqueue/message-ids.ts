const tail_digits = 12
const largest_tail = 16 ** tail_digits - 1

/**
 * Returns the UUID that comes `more` after another one; the two differ in the last 48 bits. Of the
 * rows of a record that are stored in one millisecond, that with the latest id counts.
 */
export function laterId(id: string, more: number): string {
  const tail = Number.parseInt(id.slice(-tail_digits), 16) + more
  const digits = Math.min(tail, largest_tail).toString(16)
  return id.slice(0, -tail_digits) + digits.padStart(tail_digits, '0')
}

/** Ids that the rows of a message can have. */
const ids_per_message = 65_536

/**
 * Returns the id of a message of a request, by its index. Its time is that of the request, so that a
 * later request has later ids.
 */
export function messageIdOf(ingest_request_id: string, index: number): string {
  return laterId(ingest_request_id, index * ids_per_message)
}
