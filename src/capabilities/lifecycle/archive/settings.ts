/** Bounds of archive runs. */
export type ArchiveSettings = {
  /** A run leaves alone what was stored since it began, and waits so long for what was under way. */
  settle_ms: number
  /** Rows of one file. */
  file_rows_max: number
  /** What the rows of one file may take in the engine's memory, about. A file is smaller. */
  file_bytes_max: number
  /** A file above this is refused when it is restored: it is read whole. */
  restored_file_bytes_max: number
}

export const defaultArchiveSettings: ArchiveSettings = {
  settle_ms: 30_000,
  file_rows_max: 100_000,
  file_bytes_max: 128 * 1024 * 1024,
  restored_file_bytes_max: 256 * 1024 * 1024,
}
