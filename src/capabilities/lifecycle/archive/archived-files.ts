import { createHash } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { BlobMissing, type Blobs } from '../../../platform/blobs/index.ts'
import { JobRefused } from '../../jobs/index.ts'
import { asArchiveFailure } from './failures.ts'
import { kindOf } from './kinds.ts'
import { type ArchivedFile, type Manifest, ManifestRefused, readManifest } from './manifest.ts'
import { ParquetBroken, readParquet } from './parquet-file.ts'

/** Options of a reader of archives. */
export type ArchivedFilesOptions = {
  blobs: Blobs
  project_id: string
  /** Largest file that is read, because files are read into memory as a whole. */
  file_bytes_max: number
  signal: AbortSignal
}

/** Reads an archive, and refuses files that differ from what was archived. */
export class ArchivedFiles {
  readonly #options: ArchivedFilesOptions

  constructor(options: ArchivedFilesOptions) {
    this.#options = options
  }

  /** Reads the manifest with this hash. Rejects with JobRefused. */
  async manifest({ name, sha256 }: { name: string; sha256: string }): Promise<Manifest> {
    const bytes = await this.#read({ name, sha256, bytes: undefined })
    try {
      const manifest = readManifest(bytes)
      if (manifest.project_id === this.#options.project_id) return manifest
      throw new ManifestRefused('the manifest belongs to another project')
    } catch (error) {
      throw toRefusal(error, name)
    }
  }

  /**
   * Reads a file and verifies it. Rejects with JobRefused when it differs from the archived one.
   */
  async readVerified(file: ArchivedFile): Promise<Buffer> {
    const bytes = await this.#read(file)
    try {
      const facts = await readParquet(bytes, kindOf(file.kind))
      if (facts.rows === file.rows && facts.row_checksum === file.row_checksum) return bytes
    } catch (error) {
      throw toRefusal(error, file.name)
    }
    throw new JobRefused(`${file.name}: its rows differ from those of the manifest`)
  }

  async #read(about: { name: string; sha256: string; bytes: number | undefined }): Promise<Buffer> {
    const { blobs, file_bytes_max, signal } = this.#options
    const { name, sha256, bytes } = about
    if (bytes !== undefined && bytes > file_bytes_max) {
      throw new JobRefused(`${name}: has ${bytes} bytes, expected ${file_bytes_max} at most`)
    }
    const content = await asArchiveFailure(blobs.get(name, { signal }).then(buffer)).catch(
      (error) => {
        throw error instanceof BlobMissing
          ? new JobRefused(`${name}: the file no longer exists`)
          : error
      },
    )
    if (bytes !== undefined && content.length !== bytes) {
      throw new JobRefused(`${name}: has ${content.length} bytes, expected ${bytes}`)
    }
    if (createHash('sha256').update(content).digest('hex') === sha256) return content
    throw new JobRefused(`${name}: its SHA-256 differs from that of the archived file`)
  }
}

function toRefusal(error: unknown, name: string): unknown {
  if (error instanceof ManifestRefused || error instanceof ParquetBroken) {
    return new JobRefused(`${name}: ${error.message}`)
  }
  return error
}
