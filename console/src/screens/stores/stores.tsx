import { Heading } from '../../ui/parts.tsx'

/** PLACEHOLDER */
export function Stores() {
  return <Heading title="Stores" />
}
