import { homedir, hostname, userInfo } from 'node:os'

/** Headers that hold a key, or that say nothing about the client. */
const keyHeaders = /^(authorization|.*api-key|x-looptrace-key|cookie)$/
const emptyHeaders =
  /^(host|connection|content-length|accept-encoding|transfer-encoding|keep-alive)$/

/** Returns the headers of a request without keys, and without those of the connection. */
export function withoutKeys(headers: Record<string, string>): Record<string, string> {
  const entries = Object.entries(headers)
    .filter(([name]) => !emptyHeaders.test(name))
    .map(([name, value]) => [name, keyHeaders.test(name) ? '<key>' : value] as const)
  return Object.fromEntries(entries)
}

/** Attributes of a resource or span that name a machine, a person or a process. */
const privateAttributes = /^(host|process|os|container|k8s|thread|code)\.|^service\.instance\.id$/

/** Removes attributes that tell where a program ran, at any depth of an export. */
export function withoutMachine(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value
      .filter((item) => !privateAttributes.test(String((item as { key?: unknown })?.key)))
      .map(withoutMachine)
  }
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [name, withoutMachine(field)]),
  )
}

/** Replaces the server's address, the project key and paths of this machine in a text of JSON. */
export function withoutPlaces(
  text: string,
  { url, key, folders }: { url: string; key: string; folders: readonly string[] },
): string {
  const address = new URL(url).host
  const paths = [...folders, homedir()].toSorted((a, b) => b.length - a.length)
  const swaps: [string, string][] = [
    [address, 'looptrace.example'],
    [key, 'lt_key'],
    ...paths.map((path): [string, string] => [path, '/path']),
  ]
  return swaps.reduce((cleaned, [from, to]) => cleaned.replaceAll(from, to), text)
}

/** Returns words in a text that name this machine or its user; a recording must have none. */
export function placesIn(text: string, folders: readonly string[]): string[] {
  const { username } = userInfo()
  const words = [hostname(), homedir(), ...folders, `/home/${username}`, `"${username}"`]
  return words.filter((word) => word.length > 3 && text.includes(word))
}
