const WIDTH = 30;

/** A progress bar on a terminal; silence elsewhere. */
export function showProgress(stream: NodeJS.WriteStream, label: string): (made: number, wanted: number) => void {
  if (!stream.isTTY) return () => undefined;
  return (made, wanted) => {
    const filled = Math.round((WIDTH * made) / wanted);
    const end = made === wanted ? '\n' : '';
    stream.write(`\r${label} ${'█'.repeat(filled)}${'░'.repeat(WIDTH - filled)} ${made}/${wanted} days${end}`);
  };
}
