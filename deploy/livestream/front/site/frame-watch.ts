/** Dropped frames as a part of all: a machine with other things to do loses one here and there. */
const DROPPED_SHARE_MAX = 0.2;
/** Fewer of them say nothing. */
const FRAMES_MIN = 5;

/** Whether a viewer's machine shows the frames that it decodes. */
export class FrameWatch {
  #total = 0;
  #dropped = 0;

  /** Since it was asked last; to be asked about once a second. */
  keepsUp(video: HTMLVideoElement): boolean {
    const { totalVideoFrames, droppedVideoFrames } = video.getVideoPlaybackQuality();
    // Counted anew with each load, hence below what was seen before.
    const frames = totalVideoFrames - this.#total;
    const dropped = droppedVideoFrames - this.#dropped;
    this.#total = totalVideoFrames;
    this.#dropped = droppedVideoFrames;
    return frames < FRAMES_MIN || dropped <= frames * DROPPED_SHARE_MAX;
  }
}
