/**
 * Returns the first of the codings that an Accept-Encoding header accepts (RFC 9110, 12.5.3);
 * undefined when it accepts none of them. `*` is not read: clients that want a coding name it.
 */
export function acceptedCoding<Coding extends string>(
  header: string | undefined,
  codings: Iterable<Coding>,
): Coding | undefined {
  const offered = new Set(
    (header ?? '')
      .split(',')
      .map((part) =>
        part
          .trim()
          .toLowerCase()
          .split(/\s*;\s*/),
      )
      .filter(([, quality = '']) => !/^q=0(\.0*)?$/.test(quality))
      .map(([name]) => name),
  )
  for (const coding of codings) if (offered.has(coding)) return coding
  return undefined
}
