import { flag, integer, text } from '../setting.ts'
import { gib, mib } from './units.ts'

/** Role `all` on one machine. */
export const embeddedSettings = {
  data_directory: text({
    unit: 'path',
    default: './data',
    reason: 'Everything that role `all` keeps: both stores, the queue, generated secrets.',
  }),
  data_free_bytes_min: integer({
    unit: 'bytes',
    default: 128 * mib,
    min: 0,
    max: mib * gib,
    reason:
      'Free space that the disk of the data folder needs at the start: empty stores take 70 MB, and a full disk stops both of them half-way.',
  }),
  demo: flag({
    unit: 'flag',
    default: true,
    reason:
      'Whether the first start plays two sample agents against a scripted provider, one of which loops.',
  }),
}
