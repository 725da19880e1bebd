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
  /** A file above this is refused: it is read whole. */
  file_bytes_max: number
  signal: AbortSignal
}

/** Reads an archive; what is not what was archived is refused with its name. */
export class ArchivedFiles {
  readonly #options: ArchivedFilesOptions

  constructor(options: ArchivedFilesOptions) {
    this.#options = options
  }

  /** The manifest with this hash. Rejects with JobRefused. */
  async manifest({ name, sha256 }: { name: string; sha256: string }): Promise<Manifest> {
    const bytes = await this.#read({ name, sha256, bytes: undefined })
    try {
      const manifest = readManifest(bytes)
      if (manifest.project_id === this.#options.project_id) return manifest
      throw new ManifestRefused('the manifest is of another project')
    } catch (error) {
      throw refusedBy(error, name)
    }
  }

  /** The bytes of a file that is what was archived. Rejects with JobRefused when it is not. */
  async checked(file: ArchivedFile): Promise<Buffer> {
    const bytes = await this.#read(file)
    try {
      const facts = await readParquet(bytes, kindOf(file.kind))
      if (facts.rows === file.rows && facts.row_checksum === file.row_checksum) return bytes
    } catch (error) {
      throw refusedBy(error, file.name)
    }
    throw new JobRefused(`${file.name}: its rows are not those of the manifest`)
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
          ? new JobRefused(`${name}: it is not there any more`)
          : error
      },
    )
    if (bytes !== undefined && content.length !== bytes) {
      throw new JobRefused(`${name}: has ${content.length} bytes, expected ${bytes}`)
    }
    if (createHash('sha256').update(content).digest('hex') === sha256) return content
    throw new JobRefused(`${name}: its SHA-256 is not that of what was archived`)
  }
}

function refusedBy(error: unknown, name: string): unknown {
  if (error instanceof ManifestRefused || error instanceof ParquetBroken) {
    return new JobRefused(`${name}: ${error.message}`)
  }
  return error
}
