import { promisify } from 'node:util'
import { zstdCompress } from 'node:zlib'
import { type RowKind, rowHeader_bytes, rowKinds } from '../../../model/row-frame.ts'
import { ByteWriter } from '../../../platform/columnar/row-binary/index.ts'
import { type DraftOf, rowWriters } from '../../storage/row-format/index.ts'

const compress = promisify(zstdCompress)

/** A row that no frame takes, with its header, as it was encoded. */
export type LargeRow<Kind extends RowKind> = {
  kind: Kind
  draft: DraftOf<Kind>
  row: Buffer
  /** Of the message that is to take it. */
  message_id: Buffer
}

export type CompressedRow = { rows: Buffer; is_content_dropped: boolean }

/**
 * Compresses a row off the event loop, to at most `bytes_max`. One that is larger even so loses its
 * content, then its tool calls and their results. Undefined when the rest does not fit either.
 */
export async function compressedRow<Kind extends RowKind>(
  large: LargeRow<Kind>,
  bytes_max: number,
): Promise<CompressedRow | undefined> {
  const { kind, message_id } = large
  large.row.set(message_id, large.row.length - message_id.length)
  const whole = await compress(large.row)
  if (whole.length <= bytes_max) return { rows: whole, is_content_dropped: false }
  for (const dropped of [noContent, { ...noContent, tool_calls: [], tool_results: [] }]) {
    const draft = withFieldsOf(large.draft, dropped)
    const rows = await compress(encoded(kind, draft, message_id))
    if (rows.length <= bytes_max) return { rows, is_content_dropped: true }
  }
  return undefined
}

const noContent = { input: '', output: '', body: '', content_state: 'dropped' }
const writer_bytes = 4096

/** The draft with those of the fields that it has. */
function withFieldsOf<Draft extends object>(draft: Draft, fields: object): Draft {
  const known = Object.entries(fields).filter(([name]) => Object.hasOwn(draft, name))
  return { ...draft, ...Object.fromEntries(known) }
}

function encoded<Kind extends RowKind>(kind: Kind, draft: DraftOf<Kind>, message_id: Buffer) {
  const writer = new ByteWriter(Buffer.allocUnsafe(writer_bytes))
  writer.skip(rowHeader_bytes)
  rowWriters[kind](writer, draft, message_id)
  writer.putU8(0, rowKinds.indexOf(kind) + 1)
  writer.putU32(1, writer.at - rowHeader_bytes)
  return writer.written()
}
