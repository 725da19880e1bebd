import type { TraceDraft } from '../../../model/ingest-records.ts'
import { ByteReader, MalformedRow } from '../../../platform/columnar/row-binary/index.ts'

/** What was said of a whole trace, as text. */
export type StoredTrace = Omit<TraceDraft, 'input' | 'output' | 'metadata'> & {
  input: string
  output: string
  metadata: Record<string, string>
  message_id: string
}

/** Read synchronously, one row after the other, so one reader and its words serve them all. */
const reader = new ByteReader()

/** The trace that these bytes are. Throws MalformedRow. */
export function readTrace(bytes: Buffer): StoredTrace {
  reader.moveTo(bytes, 0)
  const row: StoredTrace = {
    project_id: reader.uuid(),
    trace_id: reader.uuid(),
    time: reader.i64(),
    name: reader.string(),
    source: reader.word() as TraceDraft['source'],
    task_id: reader.word(),
    task_name: reader.word(),
    conversation_id: reader.word(),
    conversation_external_id: reader.word(),
    user_id: reader.word(),
    environment: reader.word(),
    release: reader.word(),
    input: reader.string(),
    output: reader.string(),
    metadata: reader.record(),
    message_id: reader.string(),
  }
  if (reader.at !== bytes.length) throw new MalformedRow(`the row goes on after ${reader.at}`)
  return row
}
