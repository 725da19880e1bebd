import { Heading } from '../../ui/parts.tsx'

/** PLACEHOLDER */
export function Archives() {
  return <Heading title="Archives" />
}
