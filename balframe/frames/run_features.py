"""The features of the rows of two runs, whose slices are searched together."""

from dataclasses import dataclass, replace

from balframe.frames.adapter import Adapter, Frame
from balframe.frames.counted_frame import CountedFrame
from balframe.frames.query import Query
from balframe.frames.slice_features import SliceFeatures, SliceFeatureSource


@dataclass(frozen=True, slots=True)
class RunFeatures:
    """The features of rows with the predictions of the new run, and with those of the earlier one.

    `earlier` is None where each row has the prediction of one run.
    """

    new: SliceFeatures
    earlier: SliceFeatures | None

    @property
    def counted_frame(self) -> CountedFrame:
        """The counts of the rows with the predictions of the new run."""
        return self.new.counted_frame


@dataclass(frozen=True, slots=True)
class RunFeatureSource:
    """Predicted labels of one run or of two on the same rows, which are in memory."""

    features: SliceFeatureSource

    def count(self, frame: Frame, adapter: Adapter, query: Query) -> RunFeatures:
        """Encode the columns of an eager frame."""
        new, *others = (
            self.features.count(frame, adapter, replace(query, y_pred=(name,), baseline=None))
            for name in query.y_pred
        )
        return RunFeatures(new, others[0] if others else None)
