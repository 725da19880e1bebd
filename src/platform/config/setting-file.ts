import { readFileSync, statSync } from 'node:fs'

/** A setting is a password, a key or a URL; larger files are given by mistake. */
const maxFileBytes = 64 * 1024

/** The file of a setting cannot be read. The message has its path, never its content. */
export class SettingFileRefused extends Error {
  override readonly name = 'SettingFileRefused'
}

/**
 * Reads the value of a setting from a UTF-8 file, without the end of its last line. An empty file
 * counts as unset, as an empty variable does. Throws SettingFileRefused for anything else than a
 * small text, such as a pipe, which would block the start.
 */
export function readSettingFile(path: string): string | undefined {
  const bytes = readBounded(path)
  let value: string
  try {
    value = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    throw refusal(path, 'it is not UTF-8 text', cause)
  }
  if (value.includes('\0')) throw refusal(path, 'it is not UTF-8 text')
  return value.replace(/\r?\n$/, '') || undefined
}

function readBounded(path: string): Uint8Array {
  try {
    const about = statSync(path)
    if (!about.isFile()) throw refusal(path, 'it is not a file')
    if (about.size > maxFileBytes) throw refusal(path, `it is larger than ${maxFileBytes} bytes`)
    return readFileSync(path)
  } catch (cause) {
    if (cause instanceof SettingFileRefused) throw cause
    throw refusal(
      path,
      reasons[(cause as NodeJS.ErrnoException).code ?? ''] ?? String(cause),
      cause,
    )
  }
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist',
  ENOTDIR: 'it does not exist',
  EACCES: 'this user may not read it',
}

function refusal(path: string, reason: string, cause?: unknown): SettingFileRefused {
  return new SettingFileRefused(`${path} cannot be read: ${reason}`, { cause })
}
