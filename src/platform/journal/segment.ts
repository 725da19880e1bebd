import { randomInt } from 'node:crypto'
import { closeSync, ftruncateSync, openSync, unlinkSync, writeSync, writevSync } from 'node:fs'
import { encodeHeader, encodeRecord, type OutgoingRecord, segmentHeaderBytes } from './records.ts'

const useMax = 2 ** 32
const noHeader = Buffer.alloc(segmentHeaderBytes)

/**
 * A file of the journal. It is used again once nothing in it is needed: to write over pages that the
 * kernel holds costs a fifth of what new pages cost.
 */
export class Segment {
  readonly #path: string
  readonly #fd: number
  #use = 0
  #sequence = 0
  /** Bytes of this use. */
  #end = 0
  /** Bytes of the file. */
  #size = 0
  /** Messages with a part in this segment that are not settled. */
  live = 0
  /** When this use began, or ended. */
  since_ms = 0

  constructor(path: string) {
    this.#path = path
    this.#fd = openSync(path, 'wx', 0o600)
  }

  /** Bytes of this use. */
  get used_bytes(): number {
    return this.#end
  }

  /** Bytes of the file. */
  get file_bytes(): number {
    return this.#size
  }

  /** Begins a use of the file, from its first byte. */
  begin(ordinal: number, now_ms: number): void {
    this.#use = randomInt(1, useMax)
    this.#sequence = 0
    this.#end = 0
    this.since_ms = now_ms
    this.#write([encodeHeader({ use: this.#use, ordinal })], segmentHeaderBytes)
  }

  /** Writes records in one call of the system. Throws when not all bytes were written. */
  append(records: readonly OutgoingRecord[]): void {
    const pieces: Uint8Array[] = []
    let bytes = 0
    for (const record of records) {
      bytes += encodeRecord(record, { use: this.#use, sequence: this.#sequence }, pieces)
      this.#sequence += 1
    }
    this.#write(pieces, bytes)
  }

  /** Removes what an earlier use left after the end of this one. */
  cut(): void {
    if (this.#size <= this.#end) return
    ftruncateSync(this.#fd, this.#end)
    this.#size = this.#end
  }

  /** Ends the use: a later process finds nothing. Never throws: to recover a message twice is harmless. */
  end(now_ms: number): void {
    this.since_ms = now_ms
    try {
      writeSync(this.#fd, noHeader, 0, segmentHeaderBytes, 0)
    } catch {}
  }

  /** Closes the file, and deletes it. */
  remove(): void {
    closeSync(this.#fd)
    unlinkSync(this.#path)
  }

  #write(pieces: Uint8Array[], bytes: number): void {
    const written = writevSync(this.#fd, pieces, this.#end)
    if (written !== bytes) throw new Error(`${written} of ${bytes} bytes were written`)
    this.#end += bytes
    this.#size = Math.max(this.#size, this.#end)
  }
}
