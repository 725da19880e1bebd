/** Units in which settings are written down: durations in ms, sizes in bytes. */
export const seconds = 1000
export const minutes = 60 * seconds
export const hours = 60 * minutes
export const kib = 1024
export const mib = 1024 * kib
export const gib = 1024 * mib
