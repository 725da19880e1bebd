import { MalformedFrame } from '../../model/exchange-frame.ts'
import { decodeRowFrame, type RowFrame } from '../../model/row-frame.ts'
import { ByteWriter } from '../../platform/columnar/row-binary/index.ts'
import {
  type ObservationHead,
  readObservationHead,
  rowFormat,
} from '../storage/row-format/index.ts'
import { addRow, type ReadMessage } from './message-rows.ts'

/**
 * Reads a frame of encoded rows into the message: rows stay as they are, and of observations only
 * what roll-ups need is read. Throws MalformedFrame, and TypeError for a project that is none.
 */
export function readRows(message: ReadMessage, frame_bytes_max: number): void {
  const { subject, data } = message.delivery
  const frame = decodeRowFrame(data, frame_bytes_max)
  const { project_id, row_format } = frame
  message.receipts = frame.receipts.map((receipt) => ({ ...receipt, project_id }))
  if (row_format !== rowFormat) {
    throw new MalformedFrame(`row format ${row_format}, expected ${rowFormat}`)
  }
  if (!subject.endsWith(`.${project_id}`)) {
    throw new MalformedFrame(`rows of project ${project_id} on subject ${subject}`)
  }
  addRows(message, frame)
}

/** A row that says it is another project's is a fault: subjects are what keeps projects apart. */
function addRows(message: ReadMessage, frame: RowFrame): void {
  const { rows } = message
  const { bytes } = frame
  const project = uuidBytes(frame.project_id)
  rows.bytes = bytes
  let place = -1
  frame.eachRow((kind, start, end, receipt) => {
    place += 1
    let head: ObservationHead | undefined
    try {
      assertProject(bytes, start, project)
      if (kind === 'observations') head = readObservationHead(bytes, start)
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      message.faults.push({ reason: `row ${place}: ${reason}`, receipt, kind })
      return
    }
    addRow(rows, { kind, start, end, receipt }, head)
  })
}

/** The column `project_id` comes first in every kind of row. */
function assertProject(bytes: Buffer, start: number, project: Buffer): void {
  if (bytes.compare(project, 0, uuid_bytes, start, start + uuid_bytes) !== 0) {
    throw new MalformedFrame('expected a row of the project of its frame')
  }
}

const uuid_bytes = 16

function uuidBytes(uuid: string): Buffer {
  const writer = new ByteWriter(Buffer.alloc(uuid_bytes))
  writer.uuid(uuid)
  return writer.written()
}
