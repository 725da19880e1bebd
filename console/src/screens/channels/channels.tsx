import { Heading } from '../../ui/parts.tsx'

/** PLACEHOLDER */
export function Channels() {
  return <Heading title="Channels" />
}
